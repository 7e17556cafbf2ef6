/**
 * Runs Deno notebooks with the Deno kernel alone, without Jupyter: a client for
 * ZeroMQ's protocol, Jupyter's messages over it, the kernel's process, notebook
 * files, and what makes an executed notebook a good one.
 *
 * @module
 */

export {
  checkNotebooks,
  type CheckResult,
  extractCells,
  type ExtractedCells,
} from "./cells.ts";
export type { LineOrigin } from "./cells.ts";
export { CellError, executeNotebook, type ExecuteOptions } from "./executor.ts";
export {
  type CellResult,
  Kernel,
  KernelDiedError,
  type KernelOptions,
} from "./kernel.ts";
export {
  decodeMessage,
  encodeMessage,
  type Header,
  makeRequest,
  type Message,
  MessageError,
} from "./messages.ts";
export {
  type Cell,
  type CodeCell,
  codeCells,
  formatNotebook,
  hasTag,
  type MimeBundle,
  type Notebook,
  NotebookError,
  type Output,
  parseNotebook,
  readNotebook,
  type TextCell,
  writeNotebook,
} from "./notebook.ts";
export { OutputCollector } from "./outputs.ts";
export {
  BENCH_TAG,
  type CellFault,
  compareOutputs,
  describeFault,
  isDrawing,
  reviewOutputs,
} from "./review.ts";
export {
  type SocketType,
  ZmtpError,
  type ZmtpOptions,
  ZmtpSocket,
} from "./zmtp.ts";
