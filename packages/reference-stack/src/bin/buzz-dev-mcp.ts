process.stdout.write("todo\n")
