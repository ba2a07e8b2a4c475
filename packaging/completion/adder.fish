# SPDX-License-Identifier: Apache-2.0
# Completion of adder for fish: the program itself says what can follow (adder complete).
function __adder_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l joined (string match -r -- '^--[^=]*=' $typed[-1]; or echo '')
    for line in (command adder complete $typed[2..] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -- "$joined" '' $typed[-1])
            case :directories
                __fish_complete_directories (string replace -- "$joined" '' $typed[-1])
            case '*'
                echo -- $joined$line
        end
    end
end
complete -c adder -f -a '(__adder_complete)'
