/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions that the library's files share. Private. */
#ifndef MPDPA_LIB_INTERNAL_H
#define MPDPA_LIB_INTERNAL_H

/*
 * Behind a declaration: the linker knows the function by another name, which no
 * program has that links the static library.
 */
#define INTERNAL(name) __asm__("mpdpa__" #name)

#endif /* MPDPA_LIB_INTERNAL_H */
