import type { Locale } from '../format.ts';

/** Texts of what a request can cost, apart from the others: only the page that shows them loads them. */
export interface EstimateTexts {
  open: string;
  most: string;
  rests: string;
  part: string;
  several: string;
  window: string;
  /** By the kinds of the service, of which there may be more one day. */
  kinds: Record<string, string>;
  other: string;
}

export const estimateTexts: Record<Locale, EstimateTexts> = {
  en: {
    open: 'What can this cost?',
    most: 'At most {most}. While it runs, {hold} is reserved; the rest comes back when it ends.',
    rests: 'The prompt counts with the most tokens that it can come to:',
    part: '{what}: {tokens} tokens',
    several: '{what} ({n}): {tokens} tokens',
    window: '{what}: only the model can measure this, so it counts as the whole context of {tokens} tokens',
    kinds: {
      text: 'Text, a token a byte',
      template: 'Words around messages and tools',
      vendor_tools: 'Tools that run at the model’s provider',
      image: 'Images',
      image_by_address: 'Images by address',
      document: 'Documents',
      pdf_pages: 'Pages of PDFs',
      document_by_address: 'Documents by address',
    },
    other: 'Other content',
  },
  vi: {
    open: 'Yêu cầu này có thể tốn bao nhiêu?',
    most: 'Tối đa {most}. Trong khi chạy, {hold} được giữ chỗ; phần còn lại được trả về khi kết thúc.',
    rests: 'Phần hỏi được tính theo số token nhiều nhất có thể:',
    part: '{what}: {tokens} token',
    several: '{what} ({n}): {tokens} token',
    window: '{what}: chỉ model mới đo được, nên được tính là toàn bộ ngữ cảnh {tokens} token',
    kinds: {
      text: 'Văn bản, mỗi byte một token',
      template: 'Phần bao quanh tin nhắn và công cụ',
      vendor_tools: 'Công cụ chạy ở phía nhà cung cấp model',
      image: 'Hình ảnh',
      image_by_address: 'Hình ảnh theo địa chỉ',
      document: 'Tài liệu',
      pdf_pages: 'Trang PDF',
      document_by_address: 'Tài liệu theo địa chỉ',
    },
    other: 'Nội dung khác',
  },
};
