# Completion of cc-executor for bash, made by `cc-executor completions bash`.
# Needs bash 4.3 or newer. On TAB, the program itself is asked what may stand there.
# shellcheck shell=bash
_cc_executor() {
  local line count program=${1/#\~\//"$HOME/"}
  local -a found=()
  COMPREPLY=()
  mapfile -t found < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  ((${#found[@]} > 0)) || return
  count=${found[0]#:command }
  case ${found[0]} in
    :files) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    :directories) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    ':command 1') mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
    :command\ *)
      # Of the package bash-completion: the other program's own completion.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((COMP_CWORD - count + 1))
      else
        compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2")
      fi
      ;;
    *)
      for line in "${found[@]%%$'\t'*}"; do
        [[ $line != "$2"* ]] || COMPREPLY+=("$line")
      done
      ;;
  esac
}
complete -F _cc_executor cc-executor
