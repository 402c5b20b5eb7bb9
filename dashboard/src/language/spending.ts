import type { Locale } from '../format.ts';

/** Texts of projects and of members' budgets, apart from the others: only the pages that show them load them. */
export interface SpendingTexts {
  project: string;
  noProject: string;
  projectHint: string;
  owner: string;
  ownerHint: string;
  owners: Record<'ACCOUNT' | 'MEMBER', string>;
  personal: string;
  madeBy: string;
  madeByFormer: string;
  forgotten: string;
  projects: {
    title: string;
    lead: string;
    create: string;
    empty: string;
    emptyText: string;
    name: string;
    nameHint: string;
    budgets: string;
    budgetsHint: string;
    month: string;
    lifetime: string;
    keys: string;
    editWhat: string;
    archive: string;
    archiveWhat: string;
    archiveText: string;
    restore: string;
    restoreWhat: string;
    archived: string;
    showArchived: string;
    report: string;
    monthName: string;
    reportWhat: string;
    noMonths: string;
  };
  members: {
    title: string;
    text: string;
    own: string;
    thisMonth: string;
    ofBudget: string;
    held: string;
    lifetime: string;
    before: string;
    trend: string;
    keys: string;
    former: string;
    setWhat: string;
    set: string;
    amount: string;
    amountHint: string;
    removeKeys: { none: string; one: string; other: string };
  };
}

export const spendingTexts: Record<Locale, SpendingTexts> = {
  en: {
    project: 'Project',
    noProject: 'No project',
    projectHint: 'What this key spends counts in the project’s budget and report.',
    owner: 'Belongs to',
    ownerHint:
      'A key of the account keeps working when the person who created it leaves. Their own key is deleted then.',
    owners: { ACCOUNT: 'The account', MEMBER: 'The person who created it' },
    personal: 'personal key',
    madeBy: 'created by {name}',
    madeByFormer: 'created by {name}, who has left',
    forgotten: 'a deleted person',
    projects: {
      title: 'Projects',
      lead: 'Group keys by what they are for, give each group a budget, and see what it spends.',
      create: 'Create project',
      empty: 'No projects yet.',
      emptyText: 'Create one and choose it when you create or edit a key.',
      name: 'Name',
      nameHint: 'Such as the product or the team that its keys are for.',
      budgets: 'Budgets',
      budgetsHint:
        'In USD, for all keys of the project together. At the limit their requests are refused. Empty: only the account’s budget limits them.',
      month: 'Per calendar month',
      lifetime: 'In total',
      keys: 'Keys',
      editWhat: 'Edit project “{name}”',
      archive: 'Archive',
      archiveWhat: 'Archive project “{name}”',
      archiveText: 'It takes no keys any more, and keeps its report. You can restore it at any time.',
      restore: 'Restore',
      restoreWhat: 'Restore project “{name}”',
      archived: 'archived',
      showArchived: 'Show archived projects',
      report: 'Report',
      monthName: 'Month',
      reportWhat: 'What “{name}” has spent',
      noMonths: 'Nothing was charged yet.',
    },
    members: {
      title: 'Who spent what',
      text: 'By the person who created the key. Months begin in the time zone of the account.',
      own: 'What the keys that you created have spent.',
      thisMonth: 'This month',
      ofBudget: '{spent} of {budget}',
      held: '{usd} reserved',
      lifetime: 'In total',
      before: 'Earlier months',
      trend: 'By month',
      keys: 'Active keys',
      former: 'has left',
      setWhat: 'Set budget of {name} by the month',
      set: 'Set budget',
      amount: 'Monthly budget in USD',
      amountHint:
        'For all keys that this person created, together. At the limit their requests are refused until the next month. Empty: no limit.',
      removeKeys: {
        none: 'They have no keys of their own.',
        one: 'Their own key is deleted.',
        other: 'Their {n} own keys are deleted.',
      },
    },
  },
  vi: {
    project: 'Dự án',
    noProject: 'Không thuộc dự án',
    projectHint: 'Chi tiêu của key này được tính vào hạn mức và báo cáo của dự án.',
    owner: 'Thuộc về',
    ownerHint: 'Key của tài khoản vẫn hoạt động khi người tạo rời đi. Key riêng của người đó sẽ bị xóa khi họ rời đi.',
    owners: { ACCOUNT: 'Tài khoản', MEMBER: 'Người tạo key' },
    personal: 'key riêng',
    madeBy: 'do {name} tạo',
    madeByFormer: 'do {name} (đã rời đi) tạo',
    forgotten: 'người đã bị xóa',
    projects: {
      title: 'Dự án',
      lead: 'Nhóm các key theo mục đích, đặt hạn mức cho từng nhóm và xem nhóm đó chi bao nhiêu.',
      create: 'Tạo dự án',
      empty: 'Chưa có dự án nào.',
      emptyText: 'Hãy tạo một dự án rồi chọn nó khi tạo hoặc sửa key.',
      name: 'Tên',
      nameHint: 'Ví dụ tên sản phẩm hoặc nhóm dùng các key này.',
      budgets: 'Hạn mức',
      budgetsHint:
        'Tính bằng USD, cho tất cả key của dự án cộng lại. Khi đạt giới hạn, yêu cầu của các key bị từ chối. Để trống: chỉ bị giới hạn bởi số dư của tài khoản.',
      month: 'Mỗi tháng dương lịch',
      lifetime: 'Tổng cộng',
      keys: 'Key',
      editWhat: 'Sửa dự án “{name}”',
      archive: 'Lưu trữ',
      archiveWhat: 'Lưu trữ dự án “{name}”',
      archiveText: 'Dự án không nhận key nữa nhưng vẫn giữ báo cáo. Bạn có thể khôi phục bất cứ lúc nào.',
      restore: 'Khôi phục',
      restoreWhat: 'Khôi phục dự án “{name}”',
      archived: 'đã lưu trữ',
      showArchived: 'Hiện dự án đã lưu trữ',
      report: 'Báo cáo',
      monthName: 'Tháng',
      reportWhat: 'Chi tiêu của “{name}”',
      noMonths: 'Chưa có khoản trừ nào.',
    },
    members: {
      title: 'Ai đã chi bao nhiêu',
      text: 'Tính theo người tạo key. Tháng bắt đầu theo múi giờ của tài khoản.',
      own: 'Chi tiêu của các key do bạn tạo.',
      thisMonth: 'Tháng này',
      ofBudget: '{spent} / {budget}',
      held: 'đang giữ {usd}',
      lifetime: 'Tổng cộng',
      before: 'Các tháng trước',
      trend: 'Theo tháng',
      keys: 'Key đang dùng',
      former: 'đã rời đi',
      setWhat: 'Đặt hạn mức tháng của {name}',
      set: 'Đặt hạn mức',
      amount: 'Hạn mức tháng (USD)',
      amountHint:
        'Cho tất cả key người này tạo, cộng lại. Khi đạt giới hạn, yêu cầu bị từ chối đến hết tháng. Để trống: không giới hạn.',
      removeKeys: {
        none: 'Người này không có key riêng.',
        one: 'Key riêng của người này sẽ bị xóa.',
        other: '{n} key riêng của người này sẽ bị xóa.',
      },
    },
  },
};

/** The text of a number of things, where none has its own words. */
export function counted(texts: { none: string; one: string; other: string }, n: number): string {
  if (n === 0) return texts.none;
  return n === 1 ? texts.one : texts.other.replace('{n}', String(n));
}
