import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  type SocketType,
  ZmtpError,
  ZmtpSocket,
} from "../../lib/jupyter/zmtp.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (frames: Uint8Array[] | null) =>
  frames?.map((frame) => new TextDecoder().decode(frame));

const GREETING = new Uint8Array(64);
GREETING.set([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0]);
GREETING.set(bytes("NULL"), 12);

/** READY with one property, Socket-Type = ROUTER. */
const READY = [
  4,
  28,
  5,
  ...bytes("READY"),
  11,
  ...bytes("Socket-Type"),
  0,
  0,
  0,
  6,
]
  .concat([...bytes("ROUTER")]);

/** Accepts one connection and plays a server; gives what the client makes of it. */
async function dialogue(
  type: SocketType,
  server: (conn: Deno.TcpConn) => Promise<void>,
  client: (socket: ZmtpSocket) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using conn = await listener.accept();
    await server(conn);
  })();
  try {
    const socket = await ZmtpSocket.connect({ type, port: listener.addr.port });
    try {
      await client(socket);
    } finally {
      socket.close();
    }
  } finally {
    await serving;
  }
}

async function readExactly(
  conn: Deno.TcpConn,
  length: number,
): Promise<Uint8Array> {
  const buffer = new Uint8Array(length);
  let at = 0;
  while (at < length) {
    const count = await conn.read(buffer.subarray(at));
    if (count === null) {
      throw new Error(`the client closed after ${at} of ${length} bytes`);
    }
    at += count;
  }
  return buffer;
}

async function write(
  conn: Deno.TcpConn,
  data: readonly number[] | Uint8Array,
): Promise<void> {
  const array = Uint8Array.from(data);
  let at = 0;
  while (at < array.length) at += await conn.write(array.subarray(at));
}

/** The server's half of the handshake; returns the client's READY command. */
async function shakeHands(conn: Deno.TcpConn): Promise<Uint8Array> {
  const greeting = await readExactly(conn, 64);
  assertEquals(greeting[0], 0xff);
  assertEquals([...greeting.subarray(9, 12)], [0x7f, 3, 0]);
  assertEquals(new TextDecoder().decode(greeting.subarray(12, 16)), "NULL");
  await write(conn, GREETING);
  const head = await readExactly(conn, 2);
  assertEquals(head[0], 4);
  const ready = await readExactly(conn, head[1]!);
  await write(conn, READY);
  return ready;
}

Deno.test("a DEALER shakes hands and sends frames with more, long and last", async () => {
  const long = new Uint8Array(300).fill(7);
  await dialogue("DEALER", async (conn) => {
    assertStringIncludes(
      new TextDecoder().decode(await shakeHands(conn)),
      "DEALER",
    );
    assertEquals([...await readExactly(conn, 4)], [1, 2, ...bytes("ab")]);
    assertEquals([...await readExactly(conn, 9)], [3, 0, 0, 0, 0, 0, 0, 1, 44]);
    assertEquals(await readExactly(conn, 300), long);
    assertEquals([...await readExactly(conn, 2)], [0, 0]);
  }, async (socket) => {
    await socket.send([bytes("ab"), long, new Uint8Array(0)]);
    // Wait for the server to have read all of it.
    assertEquals(await socket.receive(), null);
  });
});

Deno.test("a SUB subscribes to everything", async () => {
  await dialogue("SUB", async (conn) => {
    await shakeHands(conn);
    assertEquals([...await readExactly(conn, 3)], [0, 1, 1]);
    await write(conn, [1, 1, 65, 0, 1, 66]);
  }, async (socket) => {
    assertEquals(texts(await socket.receive()), ["A", "B"]);
    assertEquals(await socket.receive(), null);
  });
});

Deno.test("messages sent at once stay whole and in order", async () => {
  await dialogue("DEALER", async (conn) => {
    await shakeHands(conn);
    for (let i = 0; i < 20; i++) {
      assertEquals([...(await readExactly(conn, 9)).subarray(0, 1)], [3]);
      assertEquals(
        await readExactly(conn, 70_000),
        new Uint8Array(70_000).fill(i),
      );
      assertEquals([...await readExactly(conn, 3)], [0, 1, i]);
    }
  }, async (socket) => {
    await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) =>
          socket.send([new Uint8Array(70_000).fill(i), Uint8Array.of(i)]),
      ),
    );
    assertEquals(await socket.receive(), null);
  });
});

Deno.test("frames are read however the network cuts them, and commands skipped", async () => {
  const big = new Uint8Array(300_000).map((_, i) => i % 251);
  await dialogue("DEALER", async (conn) => {
    await shakeHands(conn);
    const message = [1, 3, ...bytes("one"), 4, 2, 1, 80, 0, 3, ...bytes("two")];
    for (const byte of message) await write(conn, [byte]);
    await write(conn, [2, 0, 0, 0, 0, 0, 4, 0x93, 0xe0, ...big]);
    await write(conn, [0, 1, 33]);
  }, async (socket) => {
    assertEquals(texts(await socket.receive()), ["one", "two"]);
    const frames = await socket.receive();
    assertEquals(frames?.length, 1);
    assertEquals(frames![0], big);
    assertEquals(texts(await socket.receive()), ["!"]);
  });
});

Deno.test("a connection that ends within a message ends receiving", async () => {
  await dialogue("DEALER", async (conn) => {
    await shakeHands(conn);
    await write(conn, [1, 3, ...bytes("one"), 0, 200, 1, 2]);
  }, async (socket) => {
    assertEquals(await socket.receive(), null);
  });
});

Deno.test("closing ends a pending receive, and may be repeated", async () => {
  await dialogue("DEALER", async (conn) => {
    await shakeHands(conn);
    assertEquals(await conn.read(new Uint8Array(1)), null);
  }, async (socket) => {
    const received = socket.receive();
    socket.close();
    assertEquals(await received, null);
    socket.close();
  });
});

Deno.test("what is not a frame is an error", async () => {
  await dialogue("DEALER", async (conn) => {
    await shakeHands(conn);
    await write(conn, [0x48, 0x54, 0x54, 0x50]);
  }, async (socket) => {
    await assertRejects(() => socket.receive(), ZmtpError, "flags 72");
  });
});

Deno.test("a peer that speaks something else is named as such", async () => {
  const curve = GREETING.slice();
  curve.set(bytes("CURVE"), 12);
  const cases: [Uint8Array | number[], string][] = [
    [
      bytes("HTTP/1.1 400 Bad Request\r\n\r\n".padEnd(64)),
      "does not speak ZMTP 3",
    ],
    [curve, "CURVE"],
    [[0xff, 0], "closed during the greeting"],
    [[...GREETING, 4, 6, 5, ...bytes("OTHER")], '"OTHER"'],
    [[...GREETING, 4, 10, 5, ...bytes("ERROR"), 3, ...bytes("bad")], "bad"],
  ];
  for (const [answer, message] of cases) {
    const error = await assertRejects(() =>
      dialogue("DEALER", async (conn) => {
        await write(conn, answer);
        await conn.closeWrite();
        // Until the client gives up.
        while (await conn.read(new Uint8Array(256)).catch(() => null) !== null);
      }, () => Promise.resolve())
    );
    assertInstanceOf(error, ZmtpError);
    assert(error.message.includes(message), error.message);
  }
});
