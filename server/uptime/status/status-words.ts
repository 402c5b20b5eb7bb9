import type { Locale } from '../../shared/page.ts';
import type { Announcement } from '../announcements.ts';
import type { Impact } from '../incidents.ts';
import type { ProbeMode, ProbeProtocol } from '../probes/probe.ts';
import type { State } from '../state.ts';
import type { UpdateState } from '../updates.ts';

/** The words of the status page. The compiler ensures that both languages have all of them. */

export interface StatusWords {
  /** The language's own name. */
  title: string;
  overall: Record<State, string>;
  states: Record<State, string>;
  modes: Record<ProbeMode, string>;
  kinds: Record<Announcement['kind'], string>;
  impacts: Record<Impact, string>;
  generated: string;
  announcements: string;
  planned: string;
  models: string;
  noModels: string;
  simulated: string;
  hours24: string;
  days7: string;
  days30: string;
  days90: string;
  latency: string;
  firstByte: string;
  checked: string;
  way: string;
  state: string;
  noData: string;
  details: string;
  troubled: string;
  unmeasured: string;
  noTrouble: string;
  protocols: Record<ProbeProtocol, string>;
  daysAgo: string;
  today: string;
  legend: string;
  incidents: string;
  noIncidents: string;
  /** Of an incident. */
  open: string;
  over: string;
  goesOn: string;
  /** How long an incident took, before the figure. */
  took: string;
  affected: string;
  /** Before the moment at which measuring began. */
  since: string;
  measuredSince: string;
  measuredFrom: string;
  /** Who measures, where no agent does. */
  itself: string;
  /** Before a duration. */
  probedEvery: string;
  notProbed: string;
  requests: string;
  maintenance: string;
  /** Why every model failed at once. */
  serviceCause: string;
  absences: string;
  updateStates: Record<UpdateState, string>;
  feed: string;
  programs: string;
  reload: string;
  unavailable: string;
}

export const words: Record<Locale, StatusWords> = {
  en: {
    title: 'Status of Steyg',
    overall: {
      up: 'All models answer',
      degraded: 'Some models do not answer as they should',
      down: 'No model answers',
      no_data: 'No measurements yet',
    },
    states: { up: 'Up', degraded: 'Partly down', down: 'Down', no_data: 'No data' },
    modes: { stream: 'streamed', plain: 'in one piece' },
    kinds: { info: 'Information', maintenance: 'Maintenance', incident: 'Incident' },
    impacts: { partial: 'partly down', major: 'down' },
    generated: 'As of',
    announcements: 'Announcements',
    planned: 'Planned:',
    models: 'Models',
    noModels: 'There are no models in the catalog.',
    simulated: 'simulated',
    hours24: '24 hours',
    days7: '7 days',
    days30: '30 days',
    days90: '90 days',
    latency: 'Latency',
    firstByte: 'First byte',
    checked: 'Checked',
    way: 'Protocol',
    state: 'State',
    noData: 'no data',
    details: 'Latest measurements, and days with failures',
    troubled: 'Days with failures',
    unmeasured: 'Days without data',
    noTrouble: 'No day with failures',
    protocols: { messages: 'Messages', 'chat-completions': 'Chat completions', responses: 'Responses' },
    daysAgo: '90 days ago',
    today: 'Today',
    legend:
      'Each bar is a day (UTC), and says its figure when pointed at. Small requests are sent regularly, as a customer would send them; what an agent elsewhere finds outranks what the service finds of itself. Hatched: nothing was measured, which is neither up nor down. Announced maintenance is in no figure.',
    incidents: 'Incidents of the last 90 days',
    noIncidents: 'No incident was measured in this time.',
    open: 'Open',
    over: 'Over',
    goesOn: 'goes on',
    took: 'took',
    affected: 'Affected',
    since: 'Since',
    measuredSince: 'Measured since',
    measuredFrom: 'Measured from',
    itself: 'the service itself',
    probedEvery: 'Probed every',
    notProbed: 'The service does not probe this model.',
    requests: 'Customers’ requests that succeeded, 24 hours',
    maintenance: 'maintenance',
    serviceCause: 'The service itself could not be reached',
    absences: 'When the service itself was not running',
    updateStates: {
      investigating: 'Investigating',
      identified: 'Identified',
      monitoring: 'Monitoring',
      resolved: 'Resolved',
      in_progress: 'In progress',
      verifying: 'Verifying',
      completed: 'Completed',
    },
    feed: 'Feed',
    programs: 'For programs',
    reload: 'Reload',
    unavailable: 'The measurements cannot be read at the moment.',
  },
  vi: {
    title: 'Trạng thái của Steyg',
    overall: {
      up: 'Mọi model đều hoạt động',
      degraded: 'Một số model không hoạt động bình thường',
      down: 'Không model nào hoạt động',
      no_data: 'Chưa có số đo',
    },
    states: { up: 'Hoạt động', degraded: 'Gián đoạn một phần', down: 'Ngừng', no_data: 'Không có dữ liệu' },
    modes: { stream: 'stream', plain: 'không stream' },
    kinds: { info: 'Thông tin', maintenance: 'Bảo trì', incident: 'Sự cố' },
    impacts: { partial: 'gián đoạn một phần', major: 'ngừng' },
    generated: 'Tính đến',
    announcements: 'Thông báo',
    planned: 'Dự kiến:',
    models: 'Các model',
    noModels: 'Danh mục chưa có model nào.',
    simulated: 'mô phỏng',
    hours24: '24 giờ',
    days7: '7 ngày',
    days30: '30 ngày',
    days90: '90 ngày',
    latency: 'Độ trễ',
    firstByte: 'Byte đầu tiên',
    checked: 'Đo lúc',
    way: 'Giao thức',
    state: 'Trạng thái',
    noData: 'không có dữ liệu',
    details: 'Lần đo gần nhất và những ngày có lỗi',
    troubled: 'Những ngày có lỗi',
    unmeasured: 'Số ngày không có dữ liệu',
    noTrouble: 'Không có ngày nào có lỗi',
    protocols: { messages: 'Messages', 'chat-completions': 'Chat completions', responses: 'Responses' },
    daysAgo: '90 ngày trước',
    today: 'Hôm nay',
    legend:
      'Mỗi vạch là một ngày (theo giờ UTC) và hiện số liệu khi trỏ vào. Các yêu cầu nhỏ được gửi đều đặn, đúng như khách hàng gửi; số đo của agent ở nơi khác được ưu tiên hơn số đo của chính dịch vụ. Vạch chéo: không có số đo, không phải hoạt động cũng không phải ngừng. Thời gian bảo trì đã báo trước không tính vào số liệu.',
    incidents: 'Sự cố trong 90 ngày qua',
    noIncidents: 'Không ghi nhận sự cố nào trong thời gian này.',
    open: 'Đang xảy ra',
    over: 'Đã qua',
    goesOn: 'đang tiếp diễn',
    took: 'kéo dài',
    affected: 'Ảnh hưởng',
    since: 'Từ',
    measuredSince: 'Đo từ',
    measuredFrom: 'Đo tại',
    itself: 'chính dịch vụ',
    probedEvery: 'Đo mỗi',
    notProbed: 'Dịch vụ không tự đo model này.',
    requests: 'Yêu cầu của khách hàng thành công, 24 giờ',
    maintenance: 'bảo trì',
    serviceCause: 'Không kết nối được tới dịch vụ',
    absences: 'Những lúc dịch vụ không chạy',
    updateStates: {
      investigating: 'Đang tìm hiểu',
      identified: 'Đã rõ nguyên nhân',
      monitoring: 'Đang theo dõi',
      resolved: 'Đã khắc phục',
      in_progress: 'Đang bảo trì',
      verifying: 'Đang kiểm tra',
      completed: 'Đã hoàn tất',
    },
    feed: 'Nguồn tin',
    programs: 'Cho chương trình',
    reload: 'Tải lại',
    unavailable: 'Hiện không đọc được số đo.',
  },
};
