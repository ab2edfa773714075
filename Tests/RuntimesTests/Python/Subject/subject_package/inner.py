from subject import block

block("from a package")
