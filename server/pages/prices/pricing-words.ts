import type { ChargedUnit } from '../../core/price.ts';
import type { Protocol } from '../../core/protocol.ts';
import type { Locale } from '../../shared/page.ts';

/** The words of the public price pages. The compiler ensures that both languages have all of them. */

export interface PricingWords {
  /** The language's own name. */
  name: string;
  language: string;
  title: string;
  /** For search engines and link previews. */
  description: string;
  lead: string;
  simulated: string;
  simulatedHint: string;
  search: string;
  find: string;
  showAll: string;
  noMatch: string;
  noModels: string;
  compare: string;
  compareTitle: string;
  comparePick: string;
  model: string;
  context: string;
  maxOutput: string;
  capabilities: string;
  capabilityNames: Record<string, string>;
  protocols: string;
  protocolNames: Record<Protocol, string>;
  pools: Record<'input' | 'cacheHit' | 'cacheWrite5m' | 'cacheWrite1h' | 'output', string>;
  pool: string;
  usdPerMillion: string;
  vndAtStarter: string;
  vndAtBest: string;
  steps: string;
  stepsMarked: (steps: string) => string;
  abovePrompt: (tokens: string) => string;
  longPrompts: (tokens: string) => string;
  atHours: string;
  atTheseHours: (hours: string) => string;
  hoursOf: (model: string, hours: string) => string;
  exceptOn: (dates: string) => string;
  hoursHint: string;
  units: Record<ChargedUnit, string>;
  piecesOf: (model: string, pieces: string) => string;
  stepsHint: string;
  vndHint: string;
  vndAtPlan: (plan: string) => string;
  free: string;
  since: string;
  prices: string;
  tokens: (count: string) => string;
  uptimeDays: (days: number) => string;
  measured: (days: number, all: number) => string;
  answerTime: (days: number) => string;
  firstByteTime: (days: number) => string;
  percentiles: (p50: string, p95: string) => string;
  noData: string;
  examples: string;
  examplesHint: string;
  plans: string;
  plansLead: string;
  noPlans: string;
  plan: string;
  price: string;
  budget: string;
  perUsd: string;
  validity: string;
  validDays: (days: string) => string;
  validForever: string;
  begin: string;
  allModels: string;
  unavailable: string;
  notFound: string;
}

export const pricingWords: Record<Locale, PricingWords> = {
  en: {
    name: 'English',
    language: 'Language',
    title: 'Models and prices',
    description:
      'Prices of every model: USD per million tokens for input, cache reads, cache writes and output, in VND by plan, with context windows and measured uptime. Prepaid, no surprise bill.',
    lead: 'USD per 1,000,000 tokens. A request costs its tokens times these prices: nothing is rounded, nothing is added.',
    simulated: 'simulated',
    simulatedHint: 'Simulated models answer from a script on this server; nothing comes from a real model.',
    search: 'Search models',
    find: 'Search',
    showAll: 'Show all models',
    noMatch: 'No model matches.',
    noModels: 'No model is available at the moment.',
    compare: 'Compare selected',
    compareTitle: 'Compare models',
    comparePick: 'Compare',
    model: 'Model',
    context: 'Context window',
    maxOutput: 'Max output',
    capabilities: 'Capabilities',
    capabilityNames: { tools: 'tools', vision: 'images', thinking: 'thinking', caching: 'caching' },
    protocols: 'Protocols',
    protocolNames: { messages: 'Messages', 'chat-completions': 'Chat completions', responses: 'Responses' },
    pools: {
      input: 'Input',
      cacheHit: 'Cache hit',
      cacheWrite5m: 'Cache write, 5 min',
      cacheWrite1h: 'Cache write, 1 h',
      output: 'Output',
    },
    pool: 'Tokens',
    usdPerMillion: 'USD / 1M',
    vndAtStarter: 'VND / 1M, Starter plan',
    vndAtBest: 'VND / 1M, best plan',
    steps: 'Steps for 5 USD',
    stepsMarked: (steps) => `${steps} with cache marks`,
    abovePrompt: (tokens) => `prompt above ${tokens}:`,
    longPrompts: (tokens) => `Prompts of more than ${tokens} tokens: the whole request`,
    atHours: 'at other hours:',
    atTheseHours: (hours) => `${hours}: the whole request`,
    hoursOf: (model, hours) => `${model} has other prices ${hours}.`,
    exceptOn: (dates) => `Not on ${dates}.`,
    hoursHint: 'A request is charged at the prices of the moment at which it is accepted.',
    units: { search: 'a search', image: 'an image', minute: 'a minute' },
    piecesOf: (model, pieces) => `${model}, beside its tokens: ${pieces}.`,
    stepsHint:
      'An agent step is an assumption for comparison, not a measurement: 150,000 cached tokens, 30,000 new tokens and 4,000 output tokens. With cache marks, the new tokens are written to the five-minute cache.',
    vndHint: 'VND at what a plan asks for a USD of budget: for orientation. Requests are charged in USD.',
    vndAtPlan: (plan) => `VND at what the ${plan} plan asks for a USD of budget: for orientation.`,
    free: 'Free',
    since: 'Prices valid since',
    prices: 'Prices',
    tokens: (count) => `${count} tokens`,
    uptimeDays: (days) => `Uptime, last ${days} days`,
    measured: (days, all) => `(measured on ${days} of ${all} days)`,
    answerTime: (days) => `Short answer, last ${days} days`,
    firstByteTime: (days) => `First byte, last ${days} days`,
    percentiles: (p50, p95) => `${p50} median, ${p95} for the slowest 5 %`,
    noData: 'no data',
    examples: 'Examples',
    examplesHint: 'Set STEYG_API_KEY to a key of yours.',
    plans: 'Plans',
    plansLead: 'A plan buys budget in USD by bank transfer in VND. It is spent at the prices above.',
    noPlans: 'No plan is on sale at the moment.',
    plan: 'Plan',
    price: 'Price',
    budget: 'Budget',
    perUsd: 'Price of 1 USD',
    validity: 'Validity',
    validDays: (days) => `${days} days`,
    validForever: 'does not expire',
    begin: 'Get an API key',
    allModels: 'All models and prices',
    unavailable: 'The prices cannot be read at the moment. Try again in a moment.',
    notFound: 'There is no model of this name.',
  },
  vi: {
    name: 'Tiếng Việt',
    language: 'Ngôn ngữ',
    title: 'Model và giá',
    description:
      'Giá của mọi model: USD cho một triệu token đầu vào, đọc cache, ghi cache và đầu ra, quy ra VND theo gói, kèm cửa sổ ngữ cảnh và thời gian hoạt động đo được. Trả trước, không phát sinh ngoài dự kiến.',
    lead: 'USD cho 1.000.000 token. Chi phí của một yêu cầu là số token nhân với giá này: không làm tròn, không cộng thêm.',
    simulated: 'mô phỏng',
    simulatedHint: 'Model mô phỏng trả lời theo kịch bản trên máy chủ này; không có gì đến từ model thật.',
    search: 'Tìm model',
    find: 'Tìm',
    showAll: 'Hiện tất cả model',
    noMatch: 'Không có model nào phù hợp.',
    noModels: 'Hiện không có model nào gọi được.',
    compare: 'So sánh model đã chọn',
    compareTitle: 'So sánh model',
    comparePick: 'So sánh',
    model: 'Model',
    context: 'Cửa sổ ngữ cảnh',
    maxOutput: 'Đầu ra tối đa',
    capabilities: 'Khả năng',
    capabilityNames: { tools: 'gọi công cụ', vision: 'hình ảnh', thinking: 'suy luận', caching: 'cache' },
    protocols: 'Giao thức',
    protocolNames: { messages: 'Messages', 'chat-completions': 'Chat completions', responses: 'Responses' },
    pools: {
      input: 'Đầu vào',
      cacheHit: 'Đọc cache',
      cacheWrite5m: 'Ghi cache, 5 phút',
      cacheWrite1h: 'Ghi cache, 1 giờ',
      output: 'Đầu ra',
    },
    pool: 'Token',
    usdPerMillion: 'USD / 1 triệu',
    vndAtStarter: 'VND / 1 triệu, gói Starter',
    vndAtBest: 'VND / 1 triệu, gói tốt nhất',
    steps: 'Số bước với 5 USD',
    stepsMarked: (steps) => `${steps} khi có đánh dấu cache`,
    abovePrompt: (tokens) => `prompt trên ${tokens}:`,
    longPrompts: (tokens) => `Prompt có hơn ${tokens} token: toàn bộ yêu cầu`,
    atHours: 'vào khung giờ khác:',
    atTheseHours: (hours) => `${hours}: toàn bộ yêu cầu`,
    hoursOf: (model, hours) => `${model} có giá khác vào ${hours}.`,
    exceptOn: (dates) => `Trừ các ngày ${dates}.`,
    hoursHint: 'Yêu cầu được tính theo giá tại thời điểm được tiếp nhận.',
    units: { search: 'mỗi lần tìm kiếm', image: 'mỗi ảnh', minute: 'mỗi phút' },
    piecesOf: (model, pieces) => `${model}, ngoài token: ${pieces}.`,
    stepsHint:
      'Một bước là giả định để so sánh, không phải số đo: 150.000 token đọc từ cache, 30.000 token mới và 4.000 token do model viết. Khi có đánh dấu cache, token mới được ghi vào cache năm phút.',
    vndHint: 'VND tính theo giá của 1 USD số dư trong gói, chỉ để tham khảo. Yêu cầu được tính bằng USD.',
    vndAtPlan: (plan) => `VND tính theo giá 1 USD số dư của gói ${plan}, chỉ để tham khảo.`,
    free: 'Miễn phí',
    since: 'Giá áp dụng từ',
    prices: 'Giá',
    tokens: (count) => `${count} token`,
    uptimeDays: (days) => `Thời gian hoạt động, ${days} ngày qua`,
    measured: (days, all) => `(đo được ${days} trong ${all} ngày)`,
    answerTime: (days) => `Câu trả lời ngắn, ${days} ngày qua`,
    firstByteTime: (days) => `Byte đầu tiên, ${days} ngày qua`,
    percentiles: (p50, p95) => `trung vị ${p50}, 5 % chậm nhất từ ${p95}`,
    noData: 'không có dữ liệu',
    examples: 'Ví dụ',
    examplesHint: 'Đặt STEYG_API_KEY là một API key của bạn.',
    plans: 'Các gói',
    plansLead: 'Mỗi gói mua số dư bằng USD qua chuyển khoản VND. Số dư được dùng theo bảng giá trên.',
    noPlans: 'Hiện chưa có gói nào được bán.',
    plan: 'Gói',
    price: 'Giá',
    budget: 'Số dư',
    perUsd: 'Giá của 1 USD',
    validity: 'Thời hạn',
    validDays: (days) => `${days} ngày`,
    validForever: 'không hết hạn',
    begin: 'Lấy API key',
    allModels: 'Tất cả model và giá',
    unavailable: 'Hiện không đọc được bảng giá. Hãy thử lại sau giây lát.',
    notFound: 'Không có model nào tên như vậy.',
  },
};
