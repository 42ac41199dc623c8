export const options = { executionSegmentSequence: '', iterations: 3 };
export default function () {}
