/** Entry of the program `relay-forwarder`. */
import * as Program from "../Program.ts"
import { relayForwarder } from "../relay-forwarder/RelayForwarder.ts"

Program.run(relayForwarder(process.argv.slice(2)))
