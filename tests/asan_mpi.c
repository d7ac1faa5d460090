/* Linked into forerun-mpi under the address sanitizer only.  Open MPI keeps memory that its
 * plugins allocated and unloads them before the leak check, so that no suppression can name
 * them; every other check stays on. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
