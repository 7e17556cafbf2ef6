/**
 * Collects what cells show, by the request that each message names as its
 * parent, never by the time it comes.
 *
 * @module
 */

import type { Message } from "./messages.ts";
import type { MimeBundle, Output } from "./notebook.ts";

interface Shown {
  readonly output: Output;
  readonly displayId: string | undefined;
}

interface CellOutputs {
  shown: Shown[];
  /** `clear_output` with `wait` clears when the next output comes. */
  clearNext: boolean;
}

/** The outputs of every request of a kernel's run. */
export class OutputCollector {
  readonly #cells = new Map<string, CellOutputs>();

  /** Takes in a message of the kernel's output channel. */
  add(message: Message): void {
    const { content, header } = message;
    switch (header.msg_type) {
      case "stream":
        this.#addStream(
          message,
          content.name as "stdout" | "stderr",
          String(content.text),
        );
        break;
      case "display_data":
        this.#push(message, {
          output_type: "display_data",
          ...shownOf(content),
        });
        break;
      case "execute_result":
        this.#push(message, {
          output_type: "execute_result",
          ...shownOf(content),
          execution_count: content.execution_count as number,
        });
        break;
      case "error":
        this.#push(message, {
          output_type: "error",
          ename: String(content.ename),
          evalue: String(content.evalue),
          traceback: (content.traceback as unknown[] ?? []).map(String),
        });
        break;
      case "update_display_data":
        this.#update(content);
        break;
      case "clear_output":
        this.#clear(message, content.wait === true);
    }
  }

  /** The outputs of the request with this message id, in order. */
  of(requestId: string): Output[] {
    return this.#cells.get(requestId)?.shown.map(({ output }) => output) ?? [];
  }

  #cell(message: Message): CellOutputs | undefined {
    const id = message.parent_header.msg_id;
    if (id === undefined) return undefined;
    const known = this.#cells.get(id);
    if (known !== undefined) return known;
    const cell = { shown: [], clearNext: false };
    this.#cells.set(id, cell);
    return cell;
  }

  #push(message: Message, output: Output): void {
    const cell = this.#cell(message);
    if (cell === undefined) return;
    if (cell.clearNext) cell.shown = [];
    cell.clearNext = false;
    cell.shown.push({ output, displayId: displayIdOf(message.content) });
  }

  #addStream(message: Message, name: "stdout" | "stderr", text: string): void {
    const cell = this.#cell(message);
    const last = cell?.shown.at(-1)?.output;
    if (
      !cell?.clearNext && last?.output_type === "stream" && last.name === name
    ) {
      last.text += text;
    } else {
      this.#push(message, { output_type: "stream", name, text });
    }
  }

  #update(content: Message["content"]): void {
    const displayId = displayIdOf(content);
    if (displayId === undefined) return;
    for (const { shown } of this.#cells.values()) {
      for (const { output, displayId: id } of shown) {
        if (id === displayId && "data" in output) {
          Object.assign(output, shownOf(content));
        }
      }
    }
  }

  #clear(message: Message, wait: boolean): void {
    const cell = this.#cell(message);
    if (cell === undefined) return;
    if (wait) cell.clearNext = true;
    else cell.shown = [];
  }
}

function shownOf(
  content: Message["content"],
): { data: MimeBundle; metadata: Record<string, unknown> } {
  return {
    data: content.data as MimeBundle ?? {},
    metadata: content.metadata as Record<string, unknown> ?? {},
  };
}

function displayIdOf(content: Message["content"]): string | undefined {
  return (content.transient as { display_id?: string } | undefined)?.display_id;
}
