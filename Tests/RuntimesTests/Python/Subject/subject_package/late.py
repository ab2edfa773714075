from subject import block

block("by name")
