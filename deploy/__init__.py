"""What runs Answerline in production, and proves that it runs right. No part of the package: used from a checkout."""
