import type { Locale } from '../format.ts';

/** Texts of the playground's images, apart from the others: only the page that shows them loads them. */
export interface ImageTexts {
  what: string;
  conversation: string;
  images: string;
  prompt: string;
  size: string;
  quality: string;
  number: string;
  auto: string;
  make: string;
  making: string;
  made: string;
  cost: string;
  most: string;
  kept: string;
}

export const imageTexts: Record<Locale, ImageTexts> = {
  en: {
    what: 'What to try',
    conversation: 'Conversation',
    images: 'Images',
    prompt: 'What should the image show?',
    size: 'Size',
    quality: 'Quality',
    number: 'How many',
    auto: 'Chosen by the model',
    make: 'Make images',
    making: 'The image is being made. This can take a minute or two.',
    made: 'Image {n}: {prompt}',
    cost: 'This cost {usd}.',
    most: 'At most {most}. While it runs, {hold} is reserved; the rest comes back when it ends.',
    kept: 'Images exist only in this tab. Save the ones that you want to keep.',
  },
  vi: {
    what: 'Bạn muốn thử gì',
    conversation: 'Trò chuyện',
    images: 'Hình ảnh',
    prompt: 'Hình ảnh cần thể hiện điều gì?',
    size: 'Kích thước',
    quality: 'Chất lượng',
    number: 'Số lượng',
    auto: 'Do model chọn',
    make: 'Tạo hình ảnh',
    making: 'Đang tạo hình ảnh. Việc này có thể mất một hai phút.',
    made: 'Hình {n}: {prompt}',
    cost: 'Chi phí: {usd}.',
    most: 'Tối đa {most}. Trong khi chạy, {hold} được giữ chỗ; phần còn lại được trả về khi kết thúc.',
    kept: 'Hình ảnh chỉ có trong thẻ này. Hãy lưu những hình bạn muốn giữ.',
  },
};
