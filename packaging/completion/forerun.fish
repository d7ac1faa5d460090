# Completion of forerun and forerun-mpi in fish: the program says what may stand next (forerun complete).
function __forerun_next
    set -l words (commandline -opc) (commandline -ct)
    set -l next ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test (count $next) -gt 0
        printf '%s\n' $next
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c forerun -f -a '(__forerun_next)'
complete -c forerun-mpi -f -a '(__forerun_next)'
