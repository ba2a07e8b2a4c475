// SPDX-License-Identifier: Apache-2.0
// The interpreters that code can run in, with their packages.
import type { Environment } from "../../../clients/typescript/src/api.js";
import { adder } from "../app/api.js";
import { Failure } from "../parts/controls.js";
import { useLoaded } from "./loaded.js";

export function EnvironmentList() {
  const { value: list, failure } = useLoaded<Environment[]>(() => adder.environments());
  if (failure) return <Failure>{failure}</Failure>;
  if (!list) return <p class="loading">Loading…</p>;
  return (
    <>
      <p class="quiet">Interpreters with their packages. A run names one as its environment; <code>adder env new</code> makes another.</p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of environments">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Python</th>
              <th scope="col">Loaded in advance</th>
              <th scope="col" class="runs-middle">
                Made of
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((each) => (
              <tr key={each.name}>
                <td>{each.name}</td>
                <td>{each.version}</td>
                <td>{each.modules.join(", ") || "–"}</td>
                <td class="runs-break runs-middle">{[each.base, ...each.packages].filter(Boolean).join(", ") || each.directory || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
