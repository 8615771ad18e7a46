/** Entry of the program `buzz-agent`. */
import { buzzAgent } from "../buzz-agent/BuzzAgent.ts"
import * as Program from "../Program.ts"

Program.runWithDefaultSignals(buzzAgent(process.env))
