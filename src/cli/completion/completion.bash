# Needs bash 4.3 or newer, and no other script.

# Fills COMPREPLY by what may stand at a place: the program, the offer, what is typed so far.
_cc_executor_offer() {
  local list=''
  case $2 in
    words\ *) list=${2#words } ;;
    executions\ *) list=$("$1" __executions "${2#executions }" 2>/dev/null | cut -f 1) ;;
    program) list=$(compgen -c -- "$3") ;;
    directories)
      compopt -o filenames
      list=$(compgen -d -- "$3")
      ;;
    files)
      compopt -o filenames
      list=$(compgen -f -- "$3")
      ;;
  esac
  local word IFS=$' \n'
  case $2 in
    files | directories) IFS=$'\n' ;;
  esac
  for word in $list; do
    [[ $word != "$3"* ]] || COMPREPLY+=("$word")
  done
}

_cc_executor() {
  local program=$1 word command option='' is_over='' in_program='' place=0 last family current
  local -a words=() offers=()
  COMPREPLY=()

  # bash cuts `--state=live` into three words.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    last=$((${#words[@]} - 1))
    if ((last >= 0)) && [[ $word == '=' && ${words[last]} == --* ]]; then
      words[last]+='='
    elif ((last >= 0)) && [[ ${words[last]} == --*= ]]; then
      words[last]+=$word
    else
      words+=("$word")
    fi
  done
  last=$((${#words[@]} - 1))
  current=${words[last]}
  words=("${words[@]:0:last}")

  if ((last == 0)); then
    _cc_executor_offer "$program" "$(_cc_executor_commands)" "$current"
    return
  fi
  command=${words[0]}
  words=("${words[@]:1}")
  family=$(_cc_executor_family "$command")
  if ((${#words[@]} > 0)) && [[ " ${family#words } " == *" ${words[0]} "* ]]; then
    command+=" ${words[0]}"
    words=("${words[@]:1}")
  elif ((${#words[@]} == 0)) && [[ -n $family && $current != -* ]]; then
    _cc_executor_offer "$program" "$family" "$current"
    return
  fi

  mapfile -t offers < <(_cc_executor_operands "$command")
  for word in "${words[@]}"; do
    if [[ -n $option ]]; then
      option=''
    elif [[ -z $is_over && $word == -- ]]; then
      is_over=1
    elif [[ -z $is_over && $word == -?* ]]; then
      [[ $word == --*=* || -z $(_cc_executor_value "$command" "$word") ]] || option=$word
    else
      [[ ${offers[place]-} != program ]] || in_program=1 is_over=1
      ((place += 1))
    fi
  done

  if [[ -n $option ]]; then
    _cc_executor_offer "$program" "$(_cc_executor_value "$command" "$option")" "$current"
  elif [[ -z $is_over && $current == --*=* ]]; then
    word=$(_cc_executor_value "$command" "${current%%=*}")
    _cc_executor_offer "$program" "$word" "${current#*=}"
  elif [[ -z $is_over && $current == -* ]]; then
    _cc_executor_offer "$program" "$(_cc_executor_options "$command")" "$current"
  elif [[ -n $in_program ]]; then
    _cc_executor_offer "$program" files "$current"
  else
    last=$((${#offers[@]} - 1))
    if ((last > 0)) && [[ ${offers[last]} == again ]]; then
      ((place < last)) || place=$((last - 1))
    fi
    _cc_executor_offer "$program" "${offers[place]-}" "$current"
  fi
}

complete -F _cc_executor cc-executor
