"""What an organization has beside its knowledge: settings, agents and their numbers, contacts, segments and teams."""
