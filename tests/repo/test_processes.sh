#!/bin/sh
# Does processes.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put CMakeLists.txt 'fr_module(base USES x) # fork()' 'fr_module(plots DEPS base)'
put base/process.c 'pid_t child = vfork();' 'execvpe(program, words, environment);'
put base/temporary.c 'waitpid(child, NULL, 0);'
put plots/c.c 'fr_process_run(&p, NULL, err);' '/* as system(3) does */' 'task->wait();' 'await(x);'
put tests/t.c 'system("gnuplot");'
passes 'programs started the one way' processes.sh

try() { # try WHAT FILE LINE
  put "$2" "$3"
  fails "$1" "$2:1" processes.sh
  rm "$tree/$2"
}
try 'fork' base/isolated.c 'pid_t child = fork();'
try 'fork in a condition' plots/b.c 'if (!fork()) _exit(0);'
try 'exec' plots/b.c '    execlp("gnuplot", "gnuplot", NULL);'
try 'spawn' plots/b.c 'return posix_spawnp(&child, word[0], NULL, NULL, word, environ);'
try 'a shell' plots/b.c 'FILE *pipe = popen(command, "w");'
try 'a shell in a header' plots/b.h 'static int f(void) { return system("x"); }'
try 'a wait' plots/b.cpp 'while (waitpid(child, &status, 0) < 0) continue;'
finish
