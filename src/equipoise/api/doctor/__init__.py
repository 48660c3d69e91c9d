"""What is installed here, what works, what is missing and how to get it: the `equipoise doctor` command.

checkup     one thing that was looked at          examine     all of them, in the order of the page
packages    requirements and extras, by version   places      the store, the compiler
imported    what has to be imported to be known   child       in a process of its own, which may die of it
"""
