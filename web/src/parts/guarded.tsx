// SPDX-License-Identifier: Apache-2.0
// A part of the page that may fail alone.
import { Component, type ComponentChildren } from "preact";
import { Failure } from "./controls.js";

interface GuardedProps {
  /** What the page says in its place. */
  problem: string;
  children: ComponentChildren;
}

/** Shows its children; if they fail, for instance because data of code are not what they seem, PROBLEM. The rest of the page stays. */
export class Guarded extends Component<GuardedProps, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? <Failure>{this.props.problem}</Failure> : this.props.children;
  }
}
