export default function () {}
export const handleSummary = 'text';
