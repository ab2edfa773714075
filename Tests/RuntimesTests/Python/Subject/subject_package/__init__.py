from subject import block

block("package")
