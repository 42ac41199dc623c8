import { group } from 'k6';
export default function () { group('a::b', () => {}); }
