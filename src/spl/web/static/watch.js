// The page of `spl watch`: one run.

import { ask } from "./dom.js";
import { RunView } from "./run.js";

const { runs } = await ask("api/runs");
document.title = `${runs[0].name} – spl`;
new RunView(document.getElementById("main"), runs[0].name);
