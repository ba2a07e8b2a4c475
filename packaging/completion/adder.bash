# SPDX-License-Identifier: Apache-2.0
# Completion of adder for bash: the program itself says what can follow (adder complete).
_adder() {
  local typed=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]} words line
  # Not COMP_WORDS, which bash splits at = and : as well.
  read -ra words <<<"$typed"
  [[ $typed == *[[:space:]] ]] && words+=('')
  [[ $cur == "=" ]] && cur=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      :directories) compopt -o dirnames ;;
      "$cur"*)
        [[ $line == *= ]] && compopt -o nospace
        printf -v line %q "$line" # a daemon elsewhere may have chosen the word
        COMPREPLY+=("$line")
        ;;
    esac
  done < <(command adder complete "${words[@]:1}" 2>/dev/null)
}
complete -F _adder adder
