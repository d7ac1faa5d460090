#include "app/verb.h"

int main(int argc, char **argv) { return fr_app_main(argc, argv); }
