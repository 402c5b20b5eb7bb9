import { fileURLToPath } from 'node:url';
import PdfKit from 'pdfkit';
import type { Fact, Paper, PaperTable } from './paper.ts';

/** Lays a paper out on A4 and writes it as PDF, with embedded fonts that have every Vietnamese letter. */

// Be Vietnam Pro (Open Font License). Letters of other scripts than Latin are not in it and appear as boxes.
const fonts = {
  text: fileURLToPath(import.meta.resolve('@expo-google-fonts/be-vietnam-pro/400Regular/BeVietnamPro_400Regular.ttf')),
  strong: fileURLToPath(
    import.meta.resolve('@expo-google-fonts/be-vietnam-pro/600SemiBold/BeVietnamPro_600SemiBold.ttf'),
  ),
};

const page = { width: 595.28, height: 841.89, margin: 51 };
const inner = page.width - 2 * page.margin;
const bottom = page.height - page.margin - 24;
const ink = '#17201f';
const quiet = '#55625f';
const line = '#d7dddb';
const gap = 10;

type Document = InstanceType<typeof PdfKit>;

/** The bytes of the document. */
export function drawPaper(paper: Paper): Promise<Uint8Array> {
  const document = new PdfKit({
    size: 'A4',
    margin: page.margin,
    bufferPages: true,
    lang: paper.language,
    font: fonts.text,
    info: { Title: paper.title, Creator: 'Steyg', Producer: 'Steyg', CreationDate: paper.at },
  });
  const pieces: Buffer[] = [];
  const done = new Promise<Uint8Array>((resolve, reject) => {
    document.on('data', (piece: Buffer) => pieces.push(piece));
    document.on('end', () => resolve(Buffer.concat(pieces)));
    document.on('error', reject);
  });
  let y = drawHead(document, paper);
  y = drawFacts(document, paper.facts, y);
  for (const table of paper.tables) y = drawTable(document, table, y);
  for (const note of paper.notes) y = drawNote(document, note, y);
  drawFeet(document, paper.foot);
  document.end();
  return done;
}

function drawHead(document: Document, { title, state, warning }: Paper): number {
  let y = page.margin;
  if (warning !== '') {
    document.font(fonts.strong).fontSize(9).fillColor(ink);
    const height = document.heightOfString(warning, { width: inner - 16 });
    document.rect(page.margin, y, inner, height + 12).stroke(ink);
    document.text(warning, page.margin + 8, y + 6, { width: inner - 16 });
    y += height + 24;
  }
  document.font(fonts.strong).fontSize(11).fillColor(ink).text('Steyg', page.margin, y, { lineBreak: false });
  document.fontSize(10).fillColor('#146c3c').text(state, page.margin, y, { width: inner, align: 'right' });
  document
    .fontSize(18)
    .fillColor(ink)
    .text(title, page.margin, y + 18, { width: inner });
  y = document.y + 6;
  document
    .moveTo(page.margin, y)
    .lineTo(page.margin + inner, y)
    .lineWidth(1.5)
    .stroke(ink);
  return y + gap;
}

/** Facts in two columns. */
function drawFacts(document: Document, facts: readonly Fact[], from: number): number {
  const width = (inner - 20) / 2;
  let y = from;
  for (let at = 0; at < facts.length; at += 2) {
    const heights = facts.slice(at, at + 2).map(({ label, lines }, column) => {
      const x = page.margin + column * (width + 20);
      document.font(fonts.text).fontSize(8.5).fillColor(quiet).text(label, x, y, { width });
      document.fontSize(10).fillColor(ink);
      for (const text of lines) if (text !== '') document.text(text, x, document.y, { width });
      return document.y - y;
    });
    y += Math.max(...heights) + gap;
  }
  return y + 4;
}

function drawTable(document: Document, table: PaperTable, from: number): number {
  const total = table.columns.reduce((sum, { width }) => sum + width, 0);
  const widths = table.columns.map(({ width }) => (width / total) * inner);
  let y = from;

  const drawRow = (cells: readonly string[], style: 'head' | 'row' | 'sum'): void => {
    document.font(style === 'sum' ? fonts.strong : fonts.text).fontSize(style === 'head' ? 8.5 : 9.5);
    const boxes = cells.map((cell, index) => ({
      cell,
      width: Math.max(1, (widths[index] ?? 0) - (index === cells.length - 1 ? 0 : 8)),
      align: table.columns[index]?.isFigure === true ? ('right' as const) : ('left' as const),
    }));
    const height = Math.max(...boxes.map(({ cell, width }) => document.heightOfString(cell || ' ', { width })));
    if (y + height + 8 > bottom) {
      document.addPage();
      y = page.margin;
      // A page without heads of columns could not be read on its own.
      if (style !== 'head') {
        drawRow(heads, 'head');
        document.font(style === 'sum' ? fonts.strong : fonts.text).fontSize(9.5);
      }
    }
    document.fillColor(style === 'head' ? quiet : ink);
    let x = page.margin;
    for (const [index, { cell, width, align }] of boxes.entries()) {
      document.text(cell, x, y + 4, { width, align });
      x += widths[index] ?? 0;
    }
    y += height + 8;
    document
      .moveTo(page.margin, y)
      .lineTo(page.margin + inner, y)
      .lineWidth(0.5)
      .stroke(line);
  };

  if (table.title !== '') {
    if (y + 60 > bottom) {
      document.addPage();
      y = page.margin;
    }
    document.font(fonts.strong).fontSize(11).fillColor(ink).text(table.title, page.margin, y, { width: inner });
    y = document.y + 4;
  }
  const heads = table.columns.map(({ head }) => head);
  drawRow(heads, 'head');
  for (const row of table.rows) drawRow(row, 'row');
  for (const row of table.sums) drawRow(row, 'sum');
  return y + 16;
}

function drawNote(document: Document, note: string, from: number): number {
  document.font(fonts.text).fontSize(8.5).fillColor(quiet);
  let y = from;
  if (y + document.heightOfString(note, { width: inner }) > bottom) {
    document.addPage();
    y = page.margin;
  }
  document.text(note, page.margin, y, { width: inner });
  return document.y + 4;
}

/** The foot of each page, with its number. */
function drawFeet(document: Document, foot: string): void {
  const { start, count } = document.bufferedPageRange();
  for (let index = start; index < start + count; index += 1) {
    document.switchToPage(index);
    // The foot stands below the bottom margin; without this the text would begin another page.
    document.page.margins.bottom = 0;
    const y = page.height - page.margin;
    document.font(fonts.text).fontSize(8).fillColor(quiet);
    document.text(foot, page.margin, y, { width: inner - 50, height: 22, ellipsis: true });
    document.text(`${index + 1}/${count}`, page.margin, y, { width: inner, align: 'right', lineBreak: false });
  }
}
