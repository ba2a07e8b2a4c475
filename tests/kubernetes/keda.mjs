// SPDX-License-Identifier: Apache-2.0
// Fails unless the ScaledObjects of standard input, a list, are what KEDA's own types allow. The argument is the folder with the
// packages.
import { readFileSync } from "node:fs";

const { ScaledObject } = await import(`${process.argv[2]}/node_modules/@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject.js`);
for (const object of JSON.parse(readFileSync(0, "utf8"))) new ScaledObject(object).validate();
