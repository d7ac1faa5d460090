/* The harness alone: forerun-smpi. */
#include "calibrate/harness/program.h"

int main(int argc, char **argv) { return fr_harness_main(argc, argv); }
