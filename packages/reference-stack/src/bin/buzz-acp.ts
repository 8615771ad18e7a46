/** Entry of the program `buzz-acp`. */
import { buzzAcp } from "../buzz-acp/BuzzAcp.ts"
import * as Program from "../Program.ts"

Program.runWithDefaultSignals(buzzAcp(process.env))
