/** @file
 *  The version of Forerun, of which CMakeLists.txt is the place.  One file is compiled anew when it changes. */
#ifndef FR_BASE_TEXT_VERSION_H
#define FR_BASE_TEXT_VERSION_H

/** "0.2.0". */
extern const char fr_version[];

#endif
