#include "base/text/version.h"

const char fr_version[] = FR_VERSION; /* cmake/forerun.cmake */
