# Completion of forerun and forerun-mpi in bash: the program says what may stand next (forerun complete).
_forerun() {
  local cur words cword word
  _get_comp_words_by_ref -n =: cur words cword 2>/dev/null || {
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
  }
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("${word%%$'\t'*}")
  done < <("${words[0]}" complete -- "${words[@]:1:cword}" 2>/dev/null)
  # Where nothing is known a file may stand (complete -o default).
  [[ ${#COMPREPLY[@]} -gt 0 ]] || return 0
  case ${COMPREPLY[0]} in *[=.]) compopt -o nospace 2>/dev/null ;; esac
  # Readline replaces what stands behind the last "=" or ":" alone.
  local before=${cur%"${cur##*[=:]}"}
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -o default -F _forerun forerun forerun-mpi
