import type { Locale } from '../format.ts';

/** Texts of the page of batches, apart from the others: only that page loads them. */
export interface BatchTexts {
  title: string;
  lead: string;
  empty: string;
  emptyText: string;
  name: string;
  models: string;
  progress: string;
  done: string;
  failed: string;
  notRun: string;
  cost: string;
  upTo: string;
  held: string;
  notCounted: string;
  created: string;
  until: string;
  states: Record<State, string>;
  settling: string;
  cancelWhat: string;
  cancel: string;
  cancelText: string;
  canceled: string;
}

type State = 'PREPARING' | 'IN_PROGRESS' | 'CANCELING' | 'ENDED' | 'FAILED' | 'OTHER';

export const batchTexts: Record<Locale, BatchTexts> = {
  en: {
    title: 'Batches',
    lead: 'Many requests at once, answered within a day at the batch prices. What a batch can cost at most is held until it ends; only lines that were answered are charged.',
    empty: 'No batches yet',
    emptyText: 'A batch is made with the API: POST /v1/messages/batches, or POST /v1/files and /v1/batches.',
    name: 'Batch',
    models: 'Models',
    progress: 'Progress',
    done: '{n} of {of} answered',
    failed: '{n} failed',
    notRun: '{n} not run',
    cost: 'Cost',
    upTo: 'at most {usd}',
    held: '{usd} held',
    notCounted: 'in Activity',
    created: 'Created',
    until: 'ends by {at}',
    states: {
      PREPARING: 'Being accepted',
      IN_PROGRESS: 'Running',
      CANCELING: 'Being canceled',
      ENDED: 'Ended',
      FAILED: 'Failed',
      OTHER: 'Unknown',
    },
    settling: 'Being charged',
    cancelWhat: 'Cancel batch {name}',
    cancel: 'Cancel batch',
    cancelText:
      'The vendor is asked to stop. Lines it has already answered are charged; what was held for the rest is released.',
    canceled: 'The batch is being canceled.',
  },
  vi: {
    title: 'Batch',
    lead: 'Nhiều yêu cầu cùng lúc, được trả lời trong vòng một ngày theo giá batch. Chi phí tối đa của batch được giữ cho đến khi kết thúc; chỉ những dòng đã được trả lời mới bị tính tiền.',
    empty: 'Chưa có batch nào',
    emptyText: 'Tạo batch bằng API: POST /v1/messages/batches, hoặc POST /v1/files rồi /v1/batches.',
    name: 'Batch',
    models: 'Model',
    progress: 'Tiến độ',
    done: 'đã trả lời {n} trên {of}',
    failed: '{n} bị lỗi',
    notRun: '{n} không chạy',
    cost: 'Chi phí',
    upTo: 'tối đa {usd}',
    held: 'đang giữ {usd}',
    notCounted: 'xem ở Hoạt động',
    created: 'Tạo lúc',
    until: 'kết thúc trước {at}',
    states: {
      PREPARING: 'Đang được nhận',
      IN_PROGRESS: 'Đang chạy',
      CANCELING: 'Đang hủy',
      ENDED: 'Đã kết thúc',
      FAILED: 'Thất bại',
      OTHER: 'Không rõ',
    },
    settling: 'Đang tính tiền',
    cancelWhat: 'Hủy batch {name}',
    cancel: 'Hủy batch',
    cancelText:
      'Nhà cung cấp được yêu cầu dừng lại. Những dòng đã trả lời vẫn bị tính tiền; phần đang giữ cho các dòng còn lại được trả về số dư.',
    canceled: 'Batch đang được hủy.',
  },
};
