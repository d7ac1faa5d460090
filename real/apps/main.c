#include "real/apps/program.h"

int main(int argc, char **argv) { return fr_apps_main(argc, argv); }
