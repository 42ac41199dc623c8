export default function () {}
export function handleSummary() { return 'just text'; }
