/** Writes a model file that llama.cpp loads: one layer with random weights, which speaks letters and nothing that makes sense. */

import { writeFile } from 'node:fs/promises';

const width = 32;
const heads = 2;
const hidden = 64;
const context = 2_048;
const alignment = 32;

/** Types of values in the file's header. */
const types = { u32: 4, i32: 5, f32: 6, string: 8, array: 9, u64: 10 } as const;

/** Kinds of tokens. */
const normal = 1;
const unknown = 2;
const control = 3;
const byte = 6;

interface Token {
  text: string;
  kind: number;
  score: number;
}

const bytes = Array.from({ length: 256 }, (_none, code): Token => {
  return { text: `<0x${code.toString(16).toUpperCase().padStart(2, '0')}>`, kind: byte, score: 0 };
});
const letters = 'abcdefghijklmnopqrstuvwxyz▁'.split('').map((text): Token => ({ text, kind: normal, score: -1 }));
const tokens: readonly Token[] = [
  { text: '<unk>', kind: unknown, score: 0 },
  { text: '<s>', kind: control, score: 0 },
  { text: '</s>', kind: control, score: 0 },
  ...bytes,
  ...letters,
];
const endOfText = 2;

/** The usual form of a chat, as models of this family have it. */
const chatTemplate =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

class Writer {
  private readonly parts: Buffer[] = [];
  length = 0;

  add(part: Buffer): void {
    this.parts.push(part);
    this.length += part.length;
  }

  u32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.add(part);
  }

  i32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeInt32LE(value);
    this.add(part);
  }

  u64(value: number): void {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.add(part);
  }

  f32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeFloatLE(value);
    this.add(part);
  }

  string(text: string): void {
    const part = Buffer.from(text);
    this.u64(part.length);
    this.add(part);
  }

  align(): void {
    this.add(Buffer.alloc((alignment - (this.length % alignment)) % alignment));
  }

  done(): Buffer {
    return Buffer.concat(this.parts);
  }
}

type Meta =
  | { type: 'u32' | 'f32'; value: number }
  | { type: 'string'; value: string }
  | { type: 'array'; of: 'i32' | 'f32'; values: readonly number[] }
  | { type: 'array'; of: 'string'; values: readonly string[] };

function writeMeta(out: Writer, name: string, meta: Meta): void {
  out.string(name);
  out.u32(types[meta.type]);
  if (meta.type === 'string') out.string(meta.value);
  else if (meta.type !== 'array') out[meta.type](meta.value);
  else {
    out.u32(types[meta.of]);
    out.u64(meta.values.length);
    if (meta.of === 'string') for (const value of meta.values) out.string(value);
    else for (const value of meta.values) out[meta.of](value);
  }
}

/** The same numbers on every machine. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

interface Tensor {
  name: string;
  /** The fastest dimension first. */
  shape: readonly number[];
  value: (row: number, column: number) => number;
}

/**
 * The first component of every state is positive, because each embedding begins with 1 and no layer changes it. By it the output
 * prefers letters to bytes and control tokens.
 */
function tensorsOf(random: () => number): Tensor[] {
  const noise = (scale: number) => () => random() * scale;
  const keepFirst = (scale: number) => (row: number) => (row === 0 ? 0 : random() * scale);
  const one = () => 1;
  const isLetter = (row: number) => row >= tokens.length - letters.length;
  // The end is about as likely as any letter, so that an answer has a few dozen of them.
  const preference = (row: number) => (row === endOfText ? 0.3 : isLetter(row) ? 0 : -20);
  return [
    {
      name: 'token_embd.weight',
      shape: [width, tokens.length],
      value: (_row, column) => (column === 0 ? 1 : random()),
    },
    { name: 'output_norm.weight', shape: [width], value: one },
    {
      name: 'output.weight',
      shape: [width, tokens.length],
      value: (row, column) => (column === 0 ? preference(row) : row === endOfText ? 0 : random()),
    },
    { name: 'blk.0.attn_norm.weight', shape: [width], value: one },
    { name: 'blk.0.attn_q.weight', shape: [width, width], value: noise(1) },
    { name: 'blk.0.attn_k.weight', shape: [width, width], value: noise(1) },
    { name: 'blk.0.attn_v.weight', shape: [width, width], value: noise(1) },
    { name: 'blk.0.attn_output.weight', shape: [width, width], value: keepFirst(1) },
    { name: 'blk.0.ffn_norm.weight', shape: [width], value: one },
    { name: 'blk.0.ffn_gate.weight', shape: [width, hidden], value: noise(1) },
    { name: 'blk.0.ffn_up.weight', shape: [width, hidden], value: noise(1) },
    { name: 'blk.0.ffn_down.weight', shape: [hidden, width], value: keepFirst(1) },
  ];
}

/** Writes the model; about 100 kB. */
export async function writeTinyModel(path: string): Promise<void> {
  const meta: [string, Meta][] = [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.name', { type: 'string', value: 'tiny' }],
    ['general.alignment', { type: 'u32', value: alignment }],
    ['llama.vocab_size', { type: 'u32', value: tokens.length }],
    ['llama.context_length', { type: 'u32', value: context }],
    ['llama.embedding_length', { type: 'u32', value: width }],
    ['llama.block_count', { type: 'u32', value: 1 }],
    ['llama.feed_forward_length', { type: 'u32', value: hidden }],
    ['llama.rope.dimension_count', { type: 'u32', value: width / heads }],
    ['llama.attention.head_count', { type: 'u32', value: heads }],
    ['llama.attention.head_count_kv', { type: 'u32', value: heads }],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'f32', value: 1e-5 }],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', values: tokens.map(({ text }) => text) }],
    ['tokenizer.ggml.scores', { type: 'array', of: 'f32', values: tokens.map(({ score }) => score) }],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', values: tokens.map(({ kind }) => kind) }],
    ['tokenizer.ggml.unknown_token_id', { type: 'u32', value: 0 }],
    ['tokenizer.ggml.bos_token_id', { type: 'u32', value: 1 }],
    ['tokenizer.ggml.eos_token_id', { type: 'u32', value: endOfText }],
    ['tokenizer.chat_template', { type: 'string', value: chatTemplate }],
  ];
  const tensors = tensorsOf(createRandom(1));
  const out = new Writer();
  out.add(Buffer.from('GGUF'));
  out.u32(3);
  out.u64(tensors.length);
  out.u64(meta.length);
  for (const [name, value] of meta) writeMeta(out, name, value);
  let offset = 0;
  for (const { name, shape } of tensors) {
    out.string(name);
    out.u32(shape.length);
    for (const size of shape) out.u64(size);
    // 32-bit floating point.
    out.u32(0);
    out.u64(offset);
    offset += Math.ceil((shape.reduce((product, size) => product * size, 1) * 4) / alignment) * alignment;
  }
  out.align();
  for (const { shape, value } of tensors) {
    const [columns = 1, rows = 1] = shape;
    const data = Buffer.alloc(columns * rows * 4);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1)
        data.writeFloatLE(value(row, column), (row * columns + column) * 4);
    }
    out.add(data);
    out.align();
  }
  await writeFile(path, out.done());
}
