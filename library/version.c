#include "library/include/forerun.h"

const char *forerun_version(void) { return FR_VERSION; }
