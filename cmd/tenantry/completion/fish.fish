# Completes the commands and flags of tenantry in fish: tenantry completion fish | source
function __tenantry_complete
    set -l words (commandline -opc)
    set -l found ($words[1] __complete $words[2..] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c tenantry -f -a '(__tenantry_complete)'
