export const options = { executionSegment: '' };
export default function () {}
