export const options = { executionSegmentSequence: '' };
export default function () {}
