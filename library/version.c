#include "base/text/version.h"
#include "library/include/forerun.h"

const char *forerun_version(void) { return fr_version; }
