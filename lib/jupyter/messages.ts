/**
 * Jupyter's messages as they travel: a delimiter, a signature, and four JSON
 * parts, signed with HMAC-SHA256.
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** What says who sent a message, and what it is. */
export interface Header {
  /** Names this message; replies and outputs carry it as their parent's. */
  readonly msg_id: string;
  /** For instance `execute_request` or `status`. */
  readonly msg_type: string;
  /** Names the client, or the run of the kernel. */
  readonly session: string;
  /** Who sends it; kernels do not look at it. */
  readonly username: string;
  /** When it was sent, in ISO 8601. */
  readonly date: string;
  /** The version of the messaging protocol. */
  readonly version: string;
}

/** A message, without its routing frames. */
export interface Message {
  /** The message's own header. */
  readonly header: Header;
  /** The header of the request that caused it; empty if nothing did. */
  readonly parent_header: Partial<Header>;
  /** Nothing here uses it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the message says; its fields depend on the type. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** A message could not be read, or its signature is not by our key. */
export class MessageError extends Error {
  /** The name of the class. */
  override name = "MessageError";
}

const DELIMITER = new TextEncoder().encode("<IDS|MSG>");

/** Makes a request with a fresh id. */
export function makeRequest(
  type: string,
  content: Readonly<Record<string, unknown>>,
  session: string,
): Message {
  return {
    header: {
      msg_id: crypto.randomUUID(),
      msg_type: type,
      session,
      username: "truesize",
      date: new Date().toISOString(),
      version: "5.3",
    },
    parent_header: {},
    metadata: {},
    content,
  };
}

/** Turns a message into the frames to send, signed with `key`. */
export function encodeMessage(message: Message, key: string): Uint8Array[] {
  const parts = [
    message.header,
    message.parent_header,
    message.metadata,
    message.content,
  ].map((part) => new TextEncoder().encode(JSON.stringify(part)));
  const signature = new TextEncoder().encode(sign(parts, key).toHex());
  return [DELIMITER, signature, ...parts];
}

/**
 * Reads a message from the frames that came, whatever routing frames stand
 * before its delimiter.
 *
 * @throws {MessageError} If frames are missing, a part is no JSON object, or
 * the signature is not by `key`.
 */
export function decodeMessage(
  frames: readonly Uint8Array[],
  key: string,
): Message {
  const at = frames.findIndex((frame) => sameBytes(frame, DELIMITER));
  if (at < 0) {
    throw new MessageError("a message without the delimiter <IDS|MSG>");
  }
  const parts = frames.slice(at + 2, at + 6);
  const signature = frames[at + 1];
  if (signature === undefined || parts.length < 4) {
    throw new MessageError(
      `a message of ${
        frames.length - at
      } frames after its routing; at least 6 are needed`,
    );
  }
  const expected = sign(parts, key);
  const given = Uint8Array.fromHex(hexText(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new MessageError(
      "a message whose signature is not by this connection's key",
    );
  }
  const [header, parent, metadata, content] = parts.map(parseObject);
  return {
    header: header as unknown as Header,
    parent_header: parent as Partial<Header>,
    metadata: metadata!,
    content: content!,
  };
}

function sign(
  parts: readonly Uint8Array[],
  key: string,
): ReturnType<typeof digest> {
  return digest(parts, key);
}

function digest(parts: readonly Uint8Array[], key: string) {
  const hmac = createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function hexText(signature: Uint8Array): string {
  const text = new TextDecoder().decode(signature);
  return /^([0-9a-fA-F]{2})*$/.test(text) ? text : "";
}

function parseObject(part: Uint8Array): Record<string, unknown> {
  const text = new TextDecoder().decode(part);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MessageError(
      `a message part that is not JSON: ${text.slice(0, 80)}`,
      { cause },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MessageError(
      `a message part that is not an object: ${text.slice(0, 80)}`,
    );
  }
  return value as Record<string, unknown>;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
