/** Entry of the program `buzz`. */
import { buzz } from "../buzz/Buzz.ts"
import * as Program from "../Program.ts"

Program.run(buzz(process.argv.slice(2)))
