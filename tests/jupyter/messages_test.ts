import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import {
  decodeMessage,
  encodeMessage,
  makeRequest,
  MessageError,
} from "../../lib/jupyter/messages.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const request = makeRequest(
  "execute_request",
  { code: "1 + 1 // ü" },
  "session-1",
);

Deno.test("a message comes back as it was sent, behind any routing frames", () => {
  const frames = encodeMessage(request, "key");
  assertEquals(frames.length, 6);
  assertEquals(decodeMessage(frames, "key"), request);
  assertEquals(
    decodeMessage([bytes("topic"), ...frames, bytes("buffer")], "key"),
    request,
  );
});

Deno.test("the signature is HMAC-SHA256 of the four parts, in hex", () => {
  const frames = ["<IDS|MSG>", "", '{"msg_id":"1"}', "{}", "{}", "{}"].map(
    bytes,
  );
  // printf '%s' '{"msg_id":"1"}{}{}{}' | openssl dgst -sha256 -hmac key
  frames[1] = bytes(
    "fae17e3551b4fe47b90efc695f60e0688abc04206e4800a47e3dea21647ee1c1",
  );
  assertEquals(decodeMessage(frames, "key").header.msg_id, "1");
});

Deno.test("requests have ids of their own", () => {
  const other = makeRequest("execute_request", {}, "session-1");
  assertNotEquals(other.header.msg_id, request.header.msg_id);
});

Deno.test("what was changed or signed by another key is refused", () => {
  const frames = encodeMessage(request, "key");
  assertThrows(() => decodeMessage(frames, "other"), MessageError, "signature");
  for (const i of [1, 2, 3, 4, 5]) {
    const changed = frames.with(i, bytes('{"a":1}'));
    assertThrows(
      () => decodeMessage(changed, "key"),
      MessageError,
      "signature",
    );
  }
});

Deno.test("what is no message is refused", () => {
  const frames = encodeMessage(request, "key");
  assertThrows(() => decodeMessage([], "key"), MessageError, "delimiter");
  assertThrows(
    () => decodeMessage(frames.slice(1), "key"),
    MessageError,
    "delimiter",
  );
  assertThrows(
    () => decodeMessage(frames.slice(0, 5), "key"),
    MessageError,
    "5 frames",
  );
  const list = encodeMessage({ ...request, content: [] as never }, "key");
  assertThrows(() => decodeMessage(list, "key"), MessageError, "not an object");
});
