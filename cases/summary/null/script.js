export default function () {}
export function handleSummary() { return null; }
