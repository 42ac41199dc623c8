export default function () {}
export function handleSummary() { throw new Error('no summary'); }
