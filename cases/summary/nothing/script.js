export default function () {}
export function handleSummary() { console.log('called'); }
